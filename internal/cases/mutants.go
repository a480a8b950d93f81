package cases

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"strconv"
)

// readMutants returns the bugs of the broken stores and electors with which conformance tests itself: the first fields in the lists of type []mutant.
func readMutants(root string) (map[string]bool, error) {
	bugs := map[string]bool{}
	files, err := filepath.Glob(filepath.Join(root, "conformance", "*mutants*_test.go"))
	if err != nil {
		return nil, err
	}
	for _, file := range files {
		parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
		if err != nil {
			return nil, err
		}
		ast.Inspect(parsed, func(n ast.Node) bool {
			if list, ok := n.(*ast.CompositeLit); ok && listsMutants(list) {
				addBugs(list, bugs)
			}
			return true
		})
	}
	return bugs, nil
}

func listsMutants(list *ast.CompositeLit) bool {
	array, ok := list.Type.(*ast.ArrayType)
	if !ok {
		return false
	}
	elem, ok := array.Elt.(*ast.Ident)
	return ok && elem.Name == "mutant"
}

func addBugs(list *ast.CompositeLit, bugs map[string]bool) {
	for _, e := range list.Elts {
		m, ok := e.(*ast.CompositeLit)
		if !ok || len(m.Elts) == 0 {
			continue
		}
		if text, ok := m.Elts[0].(*ast.BasicLit); ok {
			if bug, err := strconv.Unquote(text.Value); err == nil {
				bugs[bug] = true
			}
		}
	}
}
