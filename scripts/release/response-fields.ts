/** The response fields of an operation by the OpenAPI document. */

export interface Schema {
  $ref?: string
  type?: string | string[]
  properties?: Record<string, Schema>
  required?: string[]
  items?: Schema
  anyOf?: Schema[]
}

interface Field {
  /** JSON types, sorted and joined by "or". */
  type: string
  /** False for an optional field. */
  always: boolean
}

/** By status and path, for example `200 user.identities[].id`. */
export type Answers = ReadonlyMap<string, Field>

export interface Responses {
  [status: string]: { content?: Record<string, { schema?: Schema }> }
}

export function collectFields(responses: Responses, schemas: Record<string, Schema>): Answers {
  const fields = new Map<string, Field>()
  for (const [status, { content = {} }] of Object.entries(responses)) {
    const schema = Object.values(content)[0]?.schema
    if (schema) addFields(schema, `${status} `, { always: true })
  }
  return fields

  function addFields(schema: Schema, path: string, { always }: Pick<Field, 'always'>): void {
    const { type, properties = {}, required = [], items, anyOf = [] } = resolve(schema)
    if (type) add(path, { type: [type].flat().sort().join(' or '), always })
    for (const [name, property] of Object.entries(properties)) {
      const inner = `${path}${path.endsWith(' ') ? '' : '.'}${name}`
      addFields(property, inner, { always: required.includes(name) })
    }
    if (items) addFields(items, `${path}[]`, { always: true })
    // A client distinguishes response variants by their fields, so none of them is always present.
    for (const choice of anyOf) addFields(choice, path, { always: false })
  }

  function resolve(schema: Schema): Schema {
    const name = schema.$ref?.split('/').at(-1)
    return name === undefined ? schema : (schemas[name] ?? {})
  }

  function add(path: string, field: Field): void {
    const known = fields.get(path)
    fields.set(path, known ? { ...known, always: known.always && field.always } : field)
  }
}

/** One sentence for each field that a client may miss or misread. */
export function brokenAnswers(operation: string, before: Answers, after: Answers): string[] {
  return [...before].flatMap(([path, field]) => {
    const now = after.get(path)
    if (!now) return [`${operation} no longer returns ${path}.`]
    if (now.type !== field.type) {
      return [`${operation} returned ${path} as ${field.type}, and now as ${now.type}.`]
    }
    return field.always && !now.always ? [`${operation} may now omit ${path}.`] : []
  })
}
