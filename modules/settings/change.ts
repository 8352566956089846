/**
 * Changes settings: all of a request or none. Each change is recorded with the old value, so that it can be reverted.
 */
import type { FastifyInstance } from 'fastify'

import {
  findSettingError,
  isSettableName,
  settingConflicts,
  settingValues,
} from '../../config/settable.ts'
import type { Trx } from '../../db/core/database.ts'
import {
  deleteSetting,
  findSettingChange,
  insertSettingChange,
  listSettings,
  lockSettings,
  notifySettingsChanged,
  upsertSetting,
} from '../../db/settings/settings.ts'
import {
  invalidSettings,
  settingChangedSince,
  settingLocked,
  settingNotFound,
} from '../../schemas/errors.ts'
import { isSecretName } from './read.ts'

/** Null resets a setting to its default. */
type SettingTexts = Readonly<Record<string, string | null>>

interface ChangedBy {
  changedBy: string | null
  reverts?: number
  now: Date
}

/** The changes for the audit log, with secrets masked. */
interface ChangedSettings {
  before: Record<string, string | null>
  after: Record<string, string | null>
}

/** Throws invalid_settings and setting_locked. */
export async function changeSettings(
  app: FastifyInstance,
  trx: Trx,
  texts: SettingTexts,
  by: ChangedBy,
): Promise<ChangedSettings> {
  await lockSettings(trx)
  const stored = new Map((await listSettings(trx)).map(({ name, value }) => [name, value]))
  check(app, texts, stored)
  const changed: ChangedSettings = { before: {}, after: {} }
  for (const [name, text] of Object.entries(texts)) {
    await changeOne(app, trx, { name, text, before: stored.get(name) ?? null }, by)
    changed.before[name] = masked(app, name, stored.get(name) ?? null)
    changed.after[name] = isSecretName(name) && text !== null ? '(secret)' : text
  }
  await notifySettingsChanged(trx)
  return changed
}

/** Restores the values before a change. Throws setting_not_found, and conflict when they were changed since. */
export async function revertChange(
  app: FastifyInstance,
  trx: Trx,
  { id, force }: { id: number; force: boolean },
  by: Omit<ChangedBy, 'reverts'>,
): Promise<ChangedSettings> {
  await lockSettings(trx)
  const change = Number.isSafeInteger(id) ? await findSettingChange(trx, id) : undefined
  if (!change) throw settingNotFound()
  const { name, before, after } = change
  const [row] = (await listSettings(trx)).filter((setting) => setting.name === name)
  if (!force && decryptText(app, name, row?.value) !== decryptText(app, name, after)) {
    throw settingChangedSince(name)
  }
  const texts = { [name]: decryptText(app, name, before) }
  return changeSettings(app, trx, texts, { ...by, reverts: id })
}

function check(
  { config, runtimeSettings }: FastifyInstance,
  texts: SettingTexts,
  stored: ReadonlyMap<string, string>,
): void {
  const names = Object.keys(texts)
  const locked = names.find((name) => isSettableName(name) && runtimeSettings.isLocked(name))
  if (locked) throw settingLocked(locked)
  const faults = names.flatMap((name) => {
    const text = texts[name]
    if (!isSettableName(name)) return [`${name} cannot be changed at run time`]
    return (text !== null && text !== undefined && findSettingError(name, text)) || []
  })
  if (faults.length > 0) throw invalidSettings(faults)
  const kept = [...stored].filter(([name]) => !names.includes(name) && isSettableName(name))
  const after = {
    ...Object.fromEntries(
      kept.map(([name, value]) => [name, runtimeSettings.decrypt(name, value)]),
    ),
    ...Object.fromEntries(
      Object.entries(texts).filter((entry): entry is [string, string] => entry[1] !== null),
    ),
  }
  const unlocked = Object.entries(after).filter(([name]) => !runtimeSettings.isLocked(name))
  const values = settingValues(Object.fromEntries(unlocked))
  const conflicts = settingConflicts(config, { ...runtimeSettings.original, ...values })
  if (conflicts.length > 0) throw invalidSettings(conflicts)
}

async function changeOne(
  { runtimeSettings }: FastifyInstance,
  trx: Trx,
  { name, text, before }: { name: string; text: string | null; before: string | null },
  {
    changedBy,
    reverts = null,
    now,
  }: { changedBy: string | null; reverts?: number | null; now: Date },
): Promise<void> {
  const after = text === null ? null : runtimeSettings.encrypt(name, text)
  if (after === null) await deleteSetting(trx, name)
  else await upsertSetting(trx, { name, value: after, updated_at: now, updated_by: changedBy })
  const change = { name, before, after, changed_at: now, changed_by: changedBy, reverts }
  await insertSettingChange(trx, change)
}

function decryptText(
  { runtimeSettings }: FastifyInstance,
  name: string,
  stored: string | null | undefined,
) {
  return stored === null || stored === undefined ? null : runtimeSettings.decrypt(name, stored)
}

function masked(app: FastifyInstance, name: string, stored: string | null): string | null {
  if (stored === null) return null
  return isSecretName(name) ? '(secret)' : decryptText(app, name, stored)
}
