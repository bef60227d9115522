"""The pages of docs/results that tools measure: each from records that the repository keeps."""
