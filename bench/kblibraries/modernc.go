//go:build modernc

package main

import (
	"database/sql"

	_ "modernc.org/sqlite"
)

func open(path string) (*sql.DB, error) {
	return sql.Open("sqlite", "file:"+path+"?_pragma=journal_mode(wal)&_pragma=synchronous(normal)&_pragma=busy_timeout(5000)&_txlock=immediate")
}

func create(path string, docs []doc) error {
	db, err := open(path)
	if err != nil {
		return err
	}
	defer db.Close()
	if _, err := db.Exec(schema); err != nil {
		return err
	}
	return add(db, docs)
}

func update(path string, docs []doc) error {
	db, err := open(path)
	if err != nil {
		return err
	}
	defer db.Close()
	return add(db, docs)
}

func add(db *sql.DB, docs []doc) error {
	tx, err := db.Begin()
	if err != nil {
		return err
	}
	defer tx.Rollback()
	ins, err := tx.Prepare(`insert into notes(rowid, file, name, description, tags, headings, body) values (?, ?, ?, ?, ?, ?, ?)`)
	if err != nil {
		return err
	}
	for i, d := range docs {
		if _, err := tx.Exec(`delete from notes where rowid = ?`, i+1); err != nil {
			return err
		}
		if _, err := ins.Exec(i+1, d.file, d.name, d.description, d.tags, d.headings, d.body); err != nil {
			return err
		}
	}
	return tx.Commit()
}

func query(path, text string, limit int) ([]string, error) {
	db, err := open(path)
	if err != nil {
		return nil, err
	}
	defer db.Close()
	rows, err := db.Query(ranked, expression(text), limit)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var files []string
	for rows.Next() {
		var f string
		if err := rows.Scan(&f); err != nil {
			return nil, err
		}
		files = append(files, f)
	}
	return files, rows.Err()
}
