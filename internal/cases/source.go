package cases

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
)

// readTests returns the ids that each test below root names, in its comment or its body, by "folder.TestName".
func readTests(root string) (map[string]map[string]bool, error) {
	tests := map[string]map[string]bool{}
	err := filepath.WalkDir(root, func(file string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && file != root && (strings.HasPrefix(d.Name(), ".") || d.Name() == "testdata"):
			return fs.SkipDir
		case !strings.HasSuffix(file, "_test.go"):
			return nil
		}
		folder, err := filepath.Rel(root, filepath.Dir(file))
		if err != nil {
			return err
		}
		return readFile(file, filepath.ToSlash(folder), tests)
	})
	return tests, err
}

func readFile(file, folder string, tests map[string]map[string]bool) error {
	source, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	files := token.NewFileSet()
	parsed, err := parser.ParseFile(files, file, source, parser.ParseComments)
	if err != nil {
		return err
	}
	for _, d := range parsed.Decls {
		f, ok := d.(*ast.FuncDecl)
		if !ok || f.Recv != nil || !strings.HasPrefix(f.Name.Name, "Test") {
			continue
		}
		from := f.Pos()
		if f.Doc != nil {
			from = f.Doc.Pos()
		}
		ids := map[string]bool{}
		for _, id := range anyID.FindAllString(string(source[files.Position(from).Offset:files.Position(f.End()).Offset]), -1) {
			ids[id] = true
		}
		tests[path.Clean(folder)+"."+f.Name.Name] = ids
	}
	return nil
}
