// The tray for dropped files.
export function addFiles(files) {}
