// What esbuild makes one file of: the parser's own package is read neither by `require` nor by `import`.
export * from '@retorquere/bibtex-parser';
