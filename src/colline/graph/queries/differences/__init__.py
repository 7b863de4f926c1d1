"""What differs between columns, times, jobs, lakes and schemas."""
