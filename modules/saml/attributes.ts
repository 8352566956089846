/** Maps attributes of an assertion to claims (`attribute_mapping`). */
import type { Static } from '@sinclair/typebox'

import type { AttributeMapping as Schema } from '../../schemas/sso-provider.ts'

export interface SamlAttribute {
  /** Name and FriendlyName. */
  names: string[]
  values: string[]
}

export type SamlAttributeMapping = Static<typeof Schema>

/** The first name with a value, case-insensitively, as Name or FriendlyName; else the default. */
export function mapAttributes(
  attributes: readonly SamlAttribute[],
  mapping: SamlAttributeMapping | null,
): Record<string, unknown> {
  const entries = Object.entries(mapping?.keys ?? {}).flatMap(
    ([claim, rule]): [string, unknown][] => {
      const names = [...(rule.name ? [rule.name] : []), ...(rule.names ?? [])]
      const values = names
        .map((name) => findValues(attributes, name))
        .find(({ length }) => length > 0)
      const value = values && (rule.array ? values : values[0])
      const chosen = value ?? rule.default
      return chosen === undefined ? [] : [[claim, chosen]]
    },
  )
  return Object.fromEntries(entries)
}

function findValues(attributes: readonly SamlAttribute[], attributeName: string): string[] {
  return attributes
    .filter(({ names }) => names.some((name) => name.toLowerCase() === attributeName.toLowerCase()))
    .flatMap(({ values }) => values)
}
