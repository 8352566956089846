/** Settings, their history and all variables, as operators see them, without secrets. */
import type { TSchema } from '@sinclair/typebox'

import { variableEntries } from '../../config/groups/index.ts'
import { isSettableName, settableEntries } from '../../config/settable.ts'
import type { Db } from '../../db/core/database.ts'
import { listSettingChanges, listSettings } from '../../db/settings/settings.ts'
import type { Deps } from '../../plugins/define-plugin.ts'
import type { Setting, Variable } from '../../schemas/console/settings.ts'
import { toTimestamp } from '../../schemas/values/timestamp.ts'
import { formatVariable } from './text-of.ts'

type SettingsDeps = Deps<'config' | 'runtimeSettings'>

export async function readSettings(deps: SettingsDeps, db: Db): Promise<{ settings: Setting[] }> {
  const stored = new Map((await listSettings(db)).map((row) => [row.name, row]))
  const settings = settableEntries.map(([name, schema]) => {
    const locked = deps.runtimeSettings.isLocked(name)
    const row = locked ? undefined : stored.get(name)
    const secret = isSecret(schema)
    const text = row
      ? deps.runtimeSettings.decrypt(name, row.value)
      : currentText(deps, name, schema)
    return {
      ...describe(name, schema),
      value: secret ? null : text,
      source: locked
        ? ('environment' as const)
        : row
          ? ('settings' as const)
          : ('default' as const),
      locked,
      updated_at: row ? toTimestamp(row.updated_at) : null,
      updated_by: row?.updated_by ?? null,
    }
  })
  return { settings }
}

/** Newest first. */
export async function readSettingChanges(
  { runtimeSettings }: Deps<'runtimeSettings'>,
  db: Db,
  filter: { name: string | undefined; before: number | undefined },
  size: number,
) {
  const rows = await listSettingChanges(db, filter, size)
  const page = rows.slice(0, size)
  const shown = (name: string, stored: string | null) =>
    stored === null || isSecretName(name) ? null : runtimeSettings.decrypt(name, stored)
  return {
    changes: page.map(({ id, name, before, after, changed_at, changed_by, reverts }) => ({
      id: Number(id),
      name,
      before: shown(name, before),
      after: shown(name, after),
      secret: isSecretName(name),
      changed_by,
      changed_at: toTimestamp(changed_at),
      reverts: reverts === null ? null : Number(reverts),
    })),
    next: rows.length > size ? Number(page.at(-1)?.id) : null,
  }
}

/** Every variable with its value, or whether it is set for a secret one. */
export function readVariables(deps: SettingsDeps): Variable[] {
  const { config, runtimeSettings } = deps
  return variableEntries.map(([name, schema]) => {
    const isSet = config.given.has(name)
    const byEnvironment = runtimeSettings.isLocked(name)
    return {
      ...describe(name, schema),
      value: isSecret(schema) ? null : currentText(deps, name, schema),
      set: isSet,
      source: byEnvironment ? 'environment' : isSet ? 'settings' : 'default',
      changeable: isSettableName(name) && !byEnvironment,
      doc: `/docs/configuration.md#${toAnchor(schema)}`,
    }
  })
}

function describe(name: string, schema: TSchema) {
  return {
    name,
    group: String(schema['x-group'] ?? ''),
    description: schema.description ?? '',
    type: String(schema['x-type'] ?? 'text'),
    default: isSecret(schema)
      ? null
      : (schema['x-default-text'] ?? formatVariable(schema, schema.default)),
    secret: isSecret(schema),
  }
}

function currentText({ config }: SettingsDeps, name: string, schema: TSchema): string | null {
  const values: Readonly<Record<string, unknown>> = config
  return formatVariable(schema, values[name])
}

/** A URL with a password is secret, too. */
const isSecret = (schema: TSchema): boolean =>
  schema['x-secret'] === true || schema['x-type'] === 'postgres-url'

const secretNames = new Set(
  variableEntries.filter(([, schema]) => isSecret(schema)).map(([name]) => String(name)),
)
export const isSecretName = (name: string): boolean => secretNames.has(name)

/** The anchor that GitHub creates for a heading. */
function toAnchor(schema: TSchema): string {
  const title = String(schema['x-group'] ?? '').toLowerCase()
  return title.replaceAll(/[^\w\- ]/g, '').replaceAll(' ', '-')
}
