"""Reading a diagnosis: passages, sentences, clauses, and what each of them asserts."""
