//go:build ncruces

package main

import (
	"github.com/ncruces/go-sqlite3"
	"github.com/ncruces/go-sqlite3/ext/fts5"
)

func open(path string) (*sqlite3.Conn, error) {
	db, err := sqlite3.Open("file:" + path)
	if err == nil {
		err = fts5.Register(db)
	}
	if err == nil {
		err = db.Exec(`pragma journal_mode = wal; pragma synchronous = normal; pragma busy_timeout = 5000`)
	}
	return db, err
}

func create(path string, docs []doc) error {
	db, err := open(path)
	if err != nil {
		return err
	}
	defer db.Close()
	if err := db.Exec(schema); err != nil {
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

func add(db *sqlite3.Conn, docs []doc) (err error) {
	tx, err := db.BeginImmediate()
	if err != nil {
		return err
	}
	defer tx.End(&err)
	del, _, err := db.Prepare(`delete from notes where rowid = ?`)
	if err != nil {
		return err
	}
	defer del.Close()
	ins, _, err := db.Prepare(`insert into notes(rowid, file, name, description, tags, headings, body) values (?, ?, ?, ?, ?, ?, ?)`)
	if err != nil {
		return err
	}
	defer ins.Close()
	for i, d := range docs {
		if err := del.BindInt(1, i+1); err != nil {
			return err
		}
		if err := del.Exec(); err != nil {
			return err
		}
		ins.BindInt(1, i+1)
		for k, s := range []string{d.file, d.name, d.description, d.tags, d.headings, d.body} {
			if err := ins.BindText(k+2, s); err != nil {
				return err
			}
		}
		if err := ins.Exec(); err != nil {
			return err
		}
	}
	return nil
}

func query(path, text string, limit int) ([]string, error) {
	db, err := open(path)
	if err != nil {
		return nil, err
	}
	defer db.Close()
	st, _, err := db.Prepare(ranked)
	if err != nil {
		return nil, err
	}
	defer st.Close()
	st.BindText(1, expression(text))
	st.BindInt(2, limit)
	var files []string
	for st.Step() {
		files = append(files, st.ColumnText(0))
	}
	return files, st.Err()
}
