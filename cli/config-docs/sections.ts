/** The variables under their headings, in the order in which they are declared. */
import type { TSchema } from '@sinclair/typebox'

import { variableEntries } from '../../plugins/config/config.ts'
import { genericOidcFields } from '../../plugins/config/generic-oidc.ts'
import { providerVariableNames } from '../../plugins/config/groups/external-providers.ts'
import { type Row, rowOf } from './row.ts'

export interface Section {
  title: string
  /** Nothing in it works yet. */
  planned: boolean
  /** What holds for the whole section. */
  note: string
  rows: Row[]
}

const providerTitle = 'External providers'
const firstProvider = `AUTH_EXTERNAL_${providerVariableNames[0]}_`
const providerNames = providerVariableNames.map((name) => `\`${name}\``).join(', ')

export function sections(): Section[] {
  const byTitle = Map.groupBy(variableEntries, ([, schema]): string => schema['x-group'])
  return [...byTitle].flatMap(([title, entries]) =>
    title === providerTitle
      ? [providerSection(entries), genericSection()]
      : [section(title, entries)],
  )
}

function section(title: string, entries: [string, TSchema][]): Section {
  const planned = entries.every(([, schema]) => schema['x-planned'])
  return { title, planned, note: '', rows: entries.map(([name, schema]) => rowOf(name, schema)) }
}

/** All providers have the same variables, so one of them stands for each. */
function providerSection(entries: [string, TSchema][]): Section {
  const rows = entries
    .filter(([name]) => name.startsWith(firstProvider))
    .map(([name, schema]) =>
      rowOf(name.replace(firstProvider, 'AUTH_EXTERNAL_<PROVIDER>_'), schema),
    )
  const note = `\`<PROVIDER>\` stands for one of ${providerNames}. A provider that is enabled needs its client id, secret and redirect URI.`
  return { title: providerTitle, planned: false, note, rows }
}

function genericSection(): Section {
  const rows = Object.entries(genericOidcFields).map(([field, schema]) =>
    rowOf(`AUTH_EXTERNAL_OIDC_<NAME>_${field}`, schema),
  )
  const note =
    '`<NAME>` is a name of your choice, in capitals; in lower case it is what clients give as `provider`. There may be any number of them.'
  return { title: 'Other OpenID Connect providers', planned: false, note, rows }
}
