"""Small helpers that know nothing of models: texts, files, memory, random streams, records."""
