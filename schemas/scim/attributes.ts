/** Definitions of attributes (RFC 7643 §7), and their builders. */
export interface ScimAttribute {
  name: string
  type: 'string' | 'boolean' | 'complex' | 'reference' | 'binary'
  description: string
  multiValued: boolean
  required: boolean
  caseExact: boolean
  mutability: 'readWrite' | 'readOnly' | 'immutable'
  returned: 'always' | 'default'
  uniqueness: 'none' | 'server'
  referenceTypes?: readonly string[]
  canonicalValues?: readonly string[]
  subAttributes?: readonly ScimAttribute[]
}

type Options = Partial<Omit<ScimAttribute, 'name' | 'description'>>

export function attribute(name: string, description: string, options: Options = {}): ScimAttribute {
  return {
    name,
    type: options.subAttributes ? 'complex' : 'string',
    description,
    multiValued: false,
    required: false,
    caseExact: false,
    mutability: 'readWrite',
    returned: 'default',
    uniqueness: 'none',
    ...options,
  }
}

export function complex(
  name: string,
  description: string,
  subAttributes: ScimAttribute[],
  more: Options = {},
): ScimAttribute {
  return attribute(name, description, { subAttributes, ...more })
}

/** A list of values, each with a type, of which one is primary. */
export function listAttribute(
  name: string,
  description: string,
  value: Options = {},
): ScimAttribute {
  const parts = [
    attribute('value', 'The value.', value),
    attribute('display', 'A name for display.'),
    attribute('type', 'A label, such as work or home.'),
    attribute('primary', 'Whether this is the preferred value.', { type: 'boolean' }),
  ]
  return complex(name, description, parts, { multiValued: true })
}

export function referenceAttribute(referenceTypes: string[], more: Options = {}): Options {
  return { type: 'reference', referenceTypes, caseExact: true, ...more }
}

export const readOnly = { mutability: 'readOnly' } as const
