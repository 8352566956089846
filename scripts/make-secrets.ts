/** `npm run secrets`: adds the secrets required by docker-compose.yml to .env and keeps existing ones. */
import { randomBytes } from 'node:crypto'
import { appendFileSync, chmodSync, existsSync, readFileSync } from 'node:fs'
import { parseEnv } from 'node:util'

const file = '.env'
const secret = () => randomBytes(32).toString('base64url')

const needed: Record<string, () => string> = {
  POSTGRES_PASSWORD: secret,
  POSTERN_PASSWORD: secret,
  AUTH_JWT_SECRET: secret,
  AUTH_ENCRYPTION_KEY: secret,
  AUTHENTICATOR_PASSWORD: secret,
  GRAFANA_PASSWORD: secret,
}

const text = existsSync(file) ? readFileSync(file, 'utf8') : ''
const present = parseEnv(text)
const missing = Object.entries(needed).filter(([name]) => !present[name])
const separator = text === '' || text.endsWith('\n') ? '' : '\n'
const lines = missing.map(([name, make]) => `${name}=${make()}\n`)
appendFileSync(file, separator + lines.join(''), { mode: 0o600 })
// Also for an existing file: a copy of .env.example is world-readable.
chmodSync(file, 0o600)
const added = missing.map(([name]) => name).join(', ')
console.log(added === '' ? '.env already has every secret' : `.env now has ${added}`)
