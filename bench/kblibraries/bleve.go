//go:build bleve

package main

import (
	"github.com/blevesearch/bleve/v2"
	_ "github.com/blevesearch/bleve/v2/analysis/lang/en"
	"github.com/blevesearch/bleve/v2/mapping"
	blevequery "github.com/blevesearch/bleve/v2/search/query"
)

var fields = [5]string{"name", "description", "tags", "headings", "body"}

func create(path string, docs []doc) error {
	m := mapping.NewIndexMapping()
	m.DefaultAnalyzer = "en"
	m.ScoringModel = "bm25"
	index, err := bleve.New(path, m)
	if err != nil {
		return err
	}
	defer index.Close()
	return add(index, docs)
}

func update(path string, docs []doc) error {
	index, err := bleve.Open(path)
	if err != nil {
		return err
	}
	defer index.Close()
	return add(index, docs)
}

func add(index bleve.Index, docs []doc) error {
	batch := index.NewBatch()
	for _, d := range docs {
		if err := batch.Index(d.file, map[string]any{"name": d.name, "description": d.description, "tags": d.tags, "headings": d.headings, "body": d.body}); err != nil {
			return err
		}
	}
	return index.Batch(batch)
}

func matches(text string) blevequery.Query {
	var any []blevequery.Query
	for i, f := range fields {
		q := bleve.NewMatchQuery(text)
		q.SetField(f)
		q.SetBoost(weights[i])
		any = append(any, q)
	}
	return bleve.NewDisjunctionQuery(any...)
}

func query(path, text string, limit int) ([]string, error) {
	index, err := bleve.OpenUsing(path, map[string]any{"read_only": true})
	if err != nil {
		return nil, err
	}
	defer index.Close()
	r, err := index.Search(bleve.NewSearchRequestOptions(matches(text), limit, 0, false))
	if err != nil {
		return nil, err
	}
	var files []string
	for _, h := range r.Hits {
		files = append(files, h.ID)
	}
	return files, nil
}
