/** Enumerations without `anyOf`: the serializer would validate each response against it. */
import {
  Kind,
  type SchemaOptions,
  type Static,
  type TSchema,
  Type,
  TypeRegistry,
} from '@sinclair/typebox'

const stringEnum = 'StringEnum'

// Without it, Value.Check throws for a value that has such a field.
TypeRegistry.Set<{ enum: readonly unknown[] }>(stringEnum, (schema, value) =>
  schema.enum.includes(value),
)

/** One of these texts. A union of literals would be an `anyOf`, and unreadable in the API document. */
export function StringEnum<const Texts extends readonly string[]>(
  texts: Texts,
  options: SchemaOptions = {},
) {
  return Type.Unsafe<Texts[number]>({
    ...options,
    [Kind]: stringEnum,
    type: 'string',
    enum: texts,
  })
}

/**
 * A nullable type: `type: ['string', 'null']` (JSON Schema 2020-12, OpenAPI 3.1), which the serializer decides by the
 * value. TypeBox cannot compile such a schema.
 */
export function nullable<T extends TSchema & { type: string }>(schema: T) {
  return Type.Unsafe<Static<T> | null>({
    ...schema,
    [Kind]: 'Unsafe',
    type: [schema.type, 'null'],
  })
}

/** One of these texts, or null. */
export function oneOfOrNull<const Texts extends readonly string[]>(
  texts: Texts,
  options: SchemaOptions = {},
) {
  return Type.Unsafe<Texts[number] | null>({
    ...options,
    type: ['string', 'null'],
    enum: [...texts, null],
  })
}
