// JSON Schema (2020-12) and reference text of a document type, both from its description.
#pragma once
#include <tidegate/core/describe.hpp>

#include <string>

namespace tidegate::documents {

// The versioned $id: "urn:tidegate:schema:KIND:VERSION".
std::string schema_id(const Document& document);

// The schema as indented JSON with a trailing newline; the bytes committed as schemas/KIND.schema.json.
std::string json_schema(const Document& document);

// The fields as a table for people: key, type, default and meaning.
std::string reference_text(const Document& document);

} // namespace tidegate::documents
