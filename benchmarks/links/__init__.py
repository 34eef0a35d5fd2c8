"""Link prediction on time slices: which concepts that no paper joins are joined later."""
