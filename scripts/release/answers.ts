/** What an operation answers, field by field, as the OpenAPI document tells it. */

export interface Schema {
  $ref?: string
  type?: string | string[]
  properties?: Record<string, Schema>
  required?: string[]
  items?: Schema
  anyOf?: Schema[]
}

export interface Field {
  /** JSON types, sorted and joined by "or". */
  type: string
  /** False for one that may be left out. */
  always: boolean
}

/** By status and path, for example `200 user.identities[].id`. */
export type Answers = ReadonlyMap<string, Field>

export interface Responses {
  [status: string]: { content?: Record<string, { schema?: Schema }> }
}

export function answersOf(responses: Responses, schemas: Record<string, Schema>): Answers {
  const fields = new Map<string, Field>()
  for (const [status, { content = {} }] of Object.entries(responses)) {
    const schema = Object.values(content)[0]?.schema
    if (schema) walk(schema, `${status} `, { always: true })
  }
  return fields

  function walk(schema: Schema, path: string, { always }: Pick<Field, 'always'>): void {
    const { type, properties = {}, required = [], items, anyOf = [] } = resolve(schema)
    if (type) add(path, { type: [type].flat().sort().join(' or '), always })
    for (const [name, property] of Object.entries(properties)) {
      const inner = `${path}${path.endsWith(' ') ? '' : '.'}${name}`
      walk(property, inner, { always: required.includes(name) })
    }
    if (items) walk(items, `${path}[]`, { always: true })
    // Which of several answers it is, a client learns from the fields: none of them is always there.
    for (const choice of anyOf) walk(choice, path, { always: false })
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
    if (!now) return [`${operation} no longer answers ${path}.`]
    if (now.type !== field.type) {
      return [`${operation} answered ${path} as ${field.type}, and now as ${now.type}.`]
    }
    return field.always && !now.always ? [`${operation} may now leave out ${path}.`] : []
  })
}
