"""Notes as Markdown files with front matter, as Obsidian, Foam and plain editors keep them."""
