/** Groups the variables by heading, in declaration order. */
import type { TSchema } from '@sinclair/typebox'

import { providerVariableNames } from '../../config/groups/external-providers.ts'
import { genericOidcFields } from '../../config/groups/generic-oidc.ts'
import { variableEntries } from '../../config/groups/index.ts'
import { type ReferenceRow, toVariableRow } from './row.ts'

export interface Section {
  title: string
  /** Not implemented yet. */
  planned: boolean
  /** A note about the whole section. */
  note: string
  rows: ReferenceRow[]
}

const providerTitle = 'External providers'
const firstProvider = `AUTH_EXTERNAL_${providerVariableNames[0]}_`
const providerNames = providerVariableNames.map((name) => `\`${name}\``).join(', ')

export function listReferenceSections(): Section[] {
  const byTitle = Map.groupBy(variableEntries, ([, schema]): string => schema['x-group'])
  return [...byTitle].flatMap(([title, entries]) =>
    title === providerTitle
      ? [providerSection(entries), genericSection()]
      : [section(title, entries)],
  )
}

function section(title: string, entries: [string, TSchema][]): Section {
  const planned = entries.every(([, schema]) => schema['x-planned'])
  return {
    title,
    planned,
    note: '',
    rows: entries.map(([name, schema]) => toVariableRow(name, schema)),
  }
}

/** All providers have the same variables: one section describes them. */
function providerSection(entries: [string, TSchema][]): Section {
  const rows = entries
    .filter(([name]) => name.startsWith(firstProvider))
    .map(([name, schema]) =>
      toVariableRow(name.replace(firstProvider, 'AUTH_EXTERNAL_<PROVIDER>_'), schema),
    )
  const note = `\`<PROVIDER>\` stands for one of ${providerNames}. An enabled provider requires its client id, secret and redirect URI.`
  return { title: providerTitle, planned: false, note, rows }
}

function genericSection(): Section {
  const rows = Object.entries(genericOidcFields).map(([field, schema]) =>
    toVariableRow(`AUTH_EXTERNAL_OIDC_<NAME>_${field}`, schema),
  )
  const note =
    '`<NAME>` is a name of your choice in upper case. Clients send it in lower case as `provider`. There can be any number of them.'
  return { title: 'Other OpenID Connect providers', planned: false, note, rows }
}
