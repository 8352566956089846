/** `npm run secrets`: adds the secrets that docker-compose.yml needs to .env, and leaves those that are there. */
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
// Also one that was there already: a copy of .env.example is for everybody to read.
chmodSync(file, 0o600)
const added = missing.map(([name]) => name).join(', ')
console.log(added === '' ? '.env holds every secret already' : `.env now holds ${added}`)
