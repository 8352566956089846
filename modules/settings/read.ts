/** Settings, their history and all variables, as operators see them, without secrets. */
import type { TSchema } from '@sinclair/typebox'
import type { FastifyInstance } from 'fastify'

import { type Config, variableEntries } from '../../config/groups/index.ts'
import {
  genericOidcProviders,
  type ProviderVariables,
  providerSettings,
} from '../../config/groups/provider-settings.ts'
import { isSettableName, settableEntries } from '../../config/settable.ts'
import type { Db } from '../../db/core/database.ts'
import { listSettingChanges, listSettings } from '../../db/settings/settings.ts'
import { providerNames, providerTitles } from '../../providers/registry.ts'
import type { ProviderSummary } from '../../schemas/console/providers.ts'
import type { Setting, Variable } from '../../schemas/console/settings.ts'
import { formatDuration } from '../../schemas/values/duration.ts'
import { isRecord } from '../../schemas/values/record.ts'
import { toTimestamp } from '../../schemas/values/timestamp.ts'

export async function readSettings(app: FastifyInstance, db: Db): Promise<{ settings: Setting[] }> {
  const stored = new Map((await listSettings(db)).map((row) => [row.name, row]))
  const settings = settableEntries.map(([name, schema]) => {
    const locked = app.runtimeSettings.isLocked(name)
    const row = locked ? undefined : stored.get(name)
    const secret = isSecret(schema)
    const text = row ? app.runtimeSettings.decrypt(name, row.value) : currentText(app, name, schema)
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
  { runtimeSettings }: FastifyInstance,
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
export function readVariables(app: FastifyInstance): Variable[] {
  const { config, runtimeSettings } = app
  return variableEntries.map(([name, schema]) => {
    const isSet = config.given.has(name)
    const byEnvironment = runtimeSettings.isLocked(name)
    return {
      ...describe(name, schema),
      value: isSecret(schema) ? null : currentText(app, name, schema),
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

function currentText({ config }: FastifyInstance, name: string, schema: TSchema): string | null {
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

// Formats a variable's value as in the environment.

/** Null for a variable without a value. */
function formatVariable(schema: TSchema, value: unknown): string | null {
  if (value === undefined || value === null) return null
  const type: unknown = schema['x-type']
  if (type === 'duration' && typeof value === 'number') return formatDuration(value)
  if (type === 'rate' && isRecord(value)) return rateText(value)
  if (Array.isArray(value)) return value.map(String).join(',')
  if (value instanceof Date) return value.toISOString()
  return typeof value === 'object' ? JSON.stringify(value) : String(value)
}

function rateText({ count, seconds }: Record<string, unknown>): string {
  const isHourly = seconds === 3600
  return isHourly ? String(count) : `${count}/${formatDuration(Number(seconds))}`
}

/** The configured providers as operators see them. */
export function describeProviders(config: Config): ProviderSummary[] {
  const named = providerNames.map((name) => providerSettings(config, name))
  return [
    ...named.map((settings) => summarize(config, settings, 'built-in', null)),
    ...genericOidcProviders(config).map(({ issuer, ...settings }) =>
      summarize(config, settings, 'oidc', issuer),
    ),
  ]
}

function summarize(
  config: Config,
  { name, enabled, clientIds, secret, redirectUri }: ProviderVariables,
  kind: ProviderSummary['kind'],
  issuer: string | null,
): ProviderSummary {
  return {
    name,
    title: providerTitles.get(name) ?? name,
    kind,
    enabled,
    callback_url: redirectUri ?? `${config.AUTH_API_EXTERNAL_URL}/callback`,
    client_id: clientIds[0] ?? null,
    has_secret: Boolean(secret),
    issuer,
  }
}
