/** Token rules under GoTrue's names, where the same variables under our names are stricter. */
import type { FoundNames } from './found-names.ts'
import type { Config } from './groups/index.ts'

type Warn = (message: string) => void

/** Services that only have GoTrue's shared secret keep working until the operator decides otherwise. */
function signsAsGotrue(found: FoundNames): boolean {
  const hasOwnKeys = found.has('AUTH_JWT_KEYS') || found.has('AUTH_JWT_ALGORITHM')
  return !hasOwnKeys && found.get('AUTH_JWT_SECRET')?.foreign === true
}

export function asGotrueSigned(config: Config, found: FoundNames): Config {
  return signsAsGotrue(found) ? { ...config, AUTH_JWT_ALGORITHM: 'HS256' } : config
}

/** Adds a notice for each rule that is applied as in GoTrue. */
export function asGotrueVerified(config: Config, found: FoundNames, warn: Warn): Config {
  if (signsAsGotrue(found)) warn(signedAsBefore)
  return anyAudience(withoutRetiredSecret(config, found, warn), found, warn)
}

const signedAsBefore =
  'New tokens are signed with HS256 and GOTRUE_JWT_SECRET, as before; set AUTH_JWT_ALGORITHM=RS256 when every service verifies with /.well-known/jwks.json.'

/** A secret retired by GOTRUE_JWT_KEYS must stay rejected: GoTrue rejects HS256 without an HS256 key. */
function withoutRetiredSecret(config: Config, found: FoundNames, warn: Warn): Config {
  const { AUTH_JWT_KEYS: keys = [], AUTH_JWT_VALID_METHODS } = config
  if (!found.get('AUTH_JWT_KEYS')?.foreign || found.has('AUTH_JWT_ACCEPT_SECRET')) return config
  const methods = AUTH_JWT_VALID_METHODS ?? keys.map(({ alg }) => alg)
  if (methods.includes('HS256')) return config
  warn(
    'Tokens signed with GOTRUE_JWT_SECRET are rejected, as before, because GOTRUE_JWT_KEYS has no HS256 key; AUTH_JWT_ACCEPT_SECRET=true accepts them.',
  )
  return { ...config, AUTH_JWT_ACCEPT_SECRET: false }
}

/** Apps of GoTrue may use audiences that its configuration does not list. */
function anyAudience(config: Config, found: FoundNames, warn: Warn): Config {
  const names = ['AUTH_JWT_AUD', 'AUTH_JWT_SECRET']
  const isGotrue = names.some((name) => found.get(name)?.foreign)
  if (!isGotrue || found.has('AUTH_JWT_ALLOWED_AUDIENCES')) return config
  warn(
    'X-JWT-AUD may name any audience, as before, and a signed token then carries it; AUTH_JWT_ALLOWED_AUDIENCES lists those that you use.',
  )
  return { ...config, AUTH_JWT_ALLOWED_AUDIENCES: ['*'] }
}
