/** Choices without `anyOf`: for each one of those in an answer, a validator would be made and run at every answer. */
import { Kind, type SchemaOptions, type Static, type TSchema, Type } from '@sinclair/typebox'

/** One of these texts. A union of literals would be an `anyOf`, and a reader would see a list of constants. */
export function oneOf<const Texts extends readonly string[]>(
  texts: Texts,
  options: SchemaOptions = {},
) {
  return Type.Unsafe<Texts[number]>({ ...options, type: 'string', enum: texts })
}

/**
 * This or null: `type: ['string', 'null']` (JSON Schema 2020-12, OpenAPI 3.1), which the serializer decides by
 * looking at the value. TypeBox's own checks do not know such a schema and refuse to compile it.
 */
export function nullable<T extends TSchema & { type: string }>(schema: T) {
  return Type.Unsafe<Static<T> | null>({
    ...schema,
    [Kind]: 'Unsafe',
    type: [schema.type, 'null'],
  })
}
