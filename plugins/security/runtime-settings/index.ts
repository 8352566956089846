/**
 * Settings that owners change at run time. They are stored in Postgres; other replicas apply them on NOTIFY, or by
 * polling behind a pooler and where the console is disabled. `config` is changed in place: code reads a setting where
 * it uses it, or subscribes to changes. Variables set in the environment take precedence.
 */
import {
  findSettingError,
  isSettableName,
  settableEntries,
  settingValues,
} from '../../../config/settable.ts'
import { listSettings, settingsChannel } from '../../../db/settings/settings.ts'
import { type ChangeFollower, followChanges } from '../../database/notifications/follow.ts'
import { createNotificationListener } from '../../database/notifications/listener.ts'
import { type Deps, definePlugin } from '../../define-plugin.ts'

declare module 'fastify' {
  interface FastifyInstance {
    runtimeSettings: ReturnType<typeof createRuntimeSettings>
  }
}

type SettingsDeps = Deps<'addHook' | 'config' | 'db' | 'encryption' | 'log'>

function createRuntimeSettings(deps: SettingsDeps) {
  const { config, db, encryption, log } = deps
  const { given } = config
  const listeners: (() => void)[] = []
  /** The values that apply when a setting is removed. */
  const original = Object.fromEntries(settableEntries.map(([name]) => [name, config[name]]))
  let known = '[]'

  const decrypt = (name: string, stored: string): string =>
    encryption.decrypt(getAssociatedData(name), stored, `The setting ${name}`)

  /** Reads the stored settings and applies changes. */
  async function refresh(): Promise<void> {
    const rows = await listSettings(db)
    const state = JSON.stringify(rows.map(({ name, value }) => [name, value]))
    if (state === known) return
    apply(rows.map(({ name, value }) => [name, decrypt(name, value)]))
    known = state
    for (const listener of listeners) listener()
  }

  function apply(stored: [name: string, text: string][]): void {
    const right = stored.filter(([name, text]) => isUsable(name, text))
    const texts = Object.fromEntries(right)
    Object.assign(config, original, settingValues(texts))
    config.given = new Set([...given, ...Object.keys(texts)])
  }

  /** False for settings of another release, or locked by the environment. */
  function isUsable(name: string, text: string): boolean {
    if (given.has(name)) return false
    const fault = isSettableName(name) ? findSettingError(name, text) : undefined
    if (fault) log.warn({ setting: name }, `stored setting ignored: ${fault}`)
    return isSettableName(name) && !fault
  }

  followSettings(deps, refresh)

  return {
    refresh,

    /** The values without stored settings. */
    original,

    /** Called after settings changed. */
    onChange: (listener: () => void): void => void listeners.push(listener),

    /** Whether it is set in the environment, which takes precedence. */
    isLocked: (name: string): boolean => given.has(name),

    encrypt: (name: string, text: string): string => encryption.seal(getAssociatedData(name), text),
    decrypt,
  }
}

/** Loads the settings before the server starts, and again when another replica has changed them. */
function followSettings(deps: SettingsDeps, refresh: () => Promise<void>): void {
  const { config, log } = deps
  const subject = 'setting'
  const listen = createNotificationListener(config.DATABASE_URL, log)
  let follower: ChangeFollower | undefined

  async function look(): Promise<void> {
    try {
      await refresh()
    } catch (err) {
      log.warn({ err }, 'settings could not be loaded, the current ones stay in use')
    }
  }

  deps.addHook('onReady', async () => {
    await look()
    // Another replica may have the console. Without one here, polling saves a connection.
    const subscribe = config.AUTH_CONSOLE_ENABLED ? listen : undefined
    follower = followChanges({ channel: settingsChannel, subject, look, listen: subscribe, log })
  })
  deps.addHook('onClose', async () => follower?.close())
}

/** Binds an encrypted value to its setting. */
const getAssociatedData = (name: string): string => `postern_settings:${name}`

export default definePlugin({
  name: 'runtimeSettings',
  deps: ['addHook', 'config', 'db', 'encryption', 'log'],
  create: createRuntimeSettings,
})
