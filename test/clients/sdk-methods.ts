/** Methods of a client SDK, and those that were called. */
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

/** The API, whose calls are recorded as `name.method`, nested APIs included. */
export function recording<Api extends object>(api: Api, name: string, called: Set<string>): Api {
  return new Proxy(api, {
    get(target, key) {
      const value: unknown = Reflect.get(target, key, target)
      if (typeof key === 'symbol') return value
      const path = `${name}.${key}`
      if (typeof value === 'function') {
        return (...given: unknown[]) => {
          called.add(path)
          return Reflect.apply(value, target, given)
        }
      }
      const isApi = apis.includes(key) && typeof value === 'object' && value !== null
      return isApi ? recording(value, path, called) : value
    },
  })
}

const apis = ['mfa', 'recoveryCodes', 'oauth', 'passkey', 'customProviders']

/** Methods of the two classes by their declarations, nested APIs included. */
export function documentedMethods(client: object, admin: object): string[] {
  return [
    ...declared('GoTrueClient').map((name) => `client.${name}`),
    ...declared('GoTrueAdminApi').map((name) => `admin.${name}`),
    ...within(client, 'client'),
    ...within(admin, 'admin'),
  ].toSorted()
}

/** They end in `navigator.credentials`; test/browser runs the supported ones. */
export function needsBrowser(name: string): boolean {
  return ['client.registerPasskey', 'client.signInWithPasskey'].includes(name)
}

function declared(file: string): string[] {
  const entry = fileURLToPath(import.meta.resolve('@supabase/auth-js'))
  const folder = entry.slice(0, entry.lastIndexOf('/dist/'))
  const text = readFileSync(`${folder}/dist/module/${file}.d.ts`, 'utf8')
  const names = [...text.matchAll(/^ {4}([a-z]\w*)\(/gm)].map(([, name = '']) => name)
  return [...new Set(names)].filter((name) => name !== 'constructor')
}

function within(api: object, name: string): string[] {
  return apis.flatMap((key) => {
    const value: unknown = Reflect.get(api, key)
    if (typeof value !== 'object' || value === null) return []
    const methods = Object.keys(value).filter(
      (own) => typeof Reflect.get(value, own) === 'function',
    )
    return [...methods.map((own) => `${name}.${key}.${own}`), ...within(value, `${name}.${key}`)]
  })
}

type Send = (...given: unknown[]) => Promise<{ error?: unknown }>

/** Each method of a part of the SDK, called with any arguments: the result has an `error`. */
export function listMethods(api: object): [string, Send][] {
  return Object.keys(api).map((name) => {
    const method: unknown = Reflect.get(api, name)
    if (typeof method !== 'function') throw new Error(`${name} is no method`)
    return [name, async (...given) => ({ ...(await Reflect.apply(method, api, given)) })]
  })
}
