/** docker-compose.yml as Docker reads it: variables are filled in from .env, nested defaults included. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'

import { parse } from 'yaml'

export interface Service {
  image?: string
  build?: string
  restart?: string
  stop_grace_period?: string
  ports?: string[]
  environment?: Record<string, string>
  env_file?: { path: string; required: boolean }[]
  volumes?: string[]
  healthcheck?: { test: string[] }
  depends_on?: string[] | Record<string, { condition: string }>
  networks?: Record<string, { ipv4_address?: string }>
}

export interface Compose {
  services: Record<string, Service>
  volumes: Record<string, unknown>
  networks: Record<
    string,
    { ipam: { config: { subnet: string; ip_range: string; gateway: string }[] } }
  >
}

const text = readFileSync(join(import.meta.dirname, '../../docker-compose.yml'), 'utf8')

/** Throws for a variable that has to be set and is not. */
export function composeWith(env: NodeJS.Dict<string>): Compose {
  return parse(filled(text, env), { merge: true })
}

const innermost = /\$\{(\w+)(?:(:-|:\?)([^${}]*))?\}/

/** From the inside out: a default may contain variables. */
function filled(source: string, env: NodeJS.Dict<string>): string {
  let result = source
  for (let match = innermost.exec(result); match; match = innermost.exec(result)) {
    const [whole, name = '', sign, rest = ''] = match
    const value = env[name] ? env[name] : sign === ':-' ? rest : undefined
    if (value === undefined && sign === ':?') throw new Error(`${name}: ${rest}`)
    result = result.replace(whole, () => value ?? '')
  }
  return result
}

/** The variables of a service’s container: those of .env, overridden by the file. */
export function containerEnvironment(
  { environment = {}, env_file }: Service,
  env: NodeJS.Dict<string>,
): NodeJS.Dict<string> {
  const given = Object.entries(environment).map(([name, value]) => [name, String(value ?? '')])
  return { ...(env_file && env), ...Object.fromEntries(given) }
}
