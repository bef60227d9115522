"""The pages of docs/results that tools measure. Each is made from records that the repository keeps."""
