package memories

// trusted: folders that everybody may write to have no place above a project on Windows.
func trusted(Folder, string) bool { return true }
