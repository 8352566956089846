/** Access tokens (RFC 7519): signed with the current key, verified with the key they name. */
import { createHmac, KeyObject, sign } from 'node:crypto'
import { promisify } from 'node:util'

import type { FastifyBaseLogger } from 'fastify'

import type { Config } from '../../../config/groups/index.ts'
import type { AccessTokenClaims, HookClaims } from '../../../schemas/access-token.ts'
import { definePlugin } from '../../define-plugin.ts'
import { accessTokenClaims, getIssuer } from './access-token-claims.ts'
import type { ClaimsSource } from './claims-source.ts'
import { createSigningKeyStore, type SigningKeys } from './signing-keys/index.ts'
import type { Key } from './signing-keys/key-material.ts'
import { signWithinLimit } from './token-size.ts'
import { clockToleranceSeconds, createTokenVerifier } from './verify-token.ts'

// Compact JWS (RFC 7515 §7.1), signed by node:crypto. jose uses Web Crypto, which runs each signature on another
// thread; an HMAC or an elliptic curve signature takes less time than that switch.

type Signer = (claims: object) => Promise<string>

const signInThread = promisify(sign)

/** The digest of each algorithm (RFC 7518 §3.1); Ed25519 has its own (RFC 8037). */
const digests: Record<string, string | null> = {
  HS256: 'sha256',
  RS256: 'sha256',
  RS512: 'sha512',
  ES256: 'sha256',
  ES512: 'sha512',
  EdDSA: null,
}

/** Signs with this key; the header is encoded once. */
export function createSigner({ kid, alg, key }: Key): Signer {
  const header = base64url(JSON.stringify({ alg, typ: 'JWT', ...(kid !== undefined && { kid }) }))
  const createSignature = signatures(alg, KeyObject.from(key))
  return async (claims) => {
    const input = `${header}.${base64url(JSON.stringify(claims))}`
    const signature = await createSignature(input)
    return `${input}.${signature.toString('base64url')}`
  }
}

function signatures(alg: string, key: KeyObject): (input: string) => Buffer | Promise<Buffer> {
  const digest = digests[alg]
  if (digest === undefined) throw new Error(`tokens are not signed with ${alg}`)
  if (alg === 'HS256') return (input) => createHmac('sha256', key).update(input).digest()
  // RSA is slow enough to run on another thread.
  if (alg.startsWith('RS')) return (input) => signInThread(digest, Buffer.from(input), key)
  const options = { key, dsaEncoding: 'ieee-p1363' } as const
  return (input) => sign(digest, Buffer.from(input), options)
}

function base64url(text: string): string {
  return Buffer.from(text).toString('base64url')
}

declare module 'fastify' {
  interface FastifyInstance {
    jwt: Jwt
  }
}

export type Jwt = ReturnType<typeof createJwt>

interface JwtOptions {
  signingKeys: SigningKeys
  config: ClaimsSource['config'] &
    Pick<Config, 'AUTH_JWT_ADMIN_ROLES' | 'AUTH_JWT_SERVICE_ISSUERS' | 'AUTH_JWT_VALID_METHODS'>
  /** Absent when no GoTrue shares the database. */
  takeover?: Readonly<{ isShared: boolean }>
  /** Absent where no user tokens are issued. */
  log?: Pick<FastifyBaseLogger, 'warn'>
}

type SessionClaims = ClaimsSource['session'] & { amr: ClaimsSource['amr'] }

interface ApiTokenOptions {
  role: string
  sub?: string | undefined
  /** Lifetime. */
  seconds: number
  /** The id by which it can be revoked. */
  jti?: string
}

export function createJwt({ signingKeys, config, takeover, log }: JwtOptions) {
  const issuer = getIssuer(config)
  let signer: Signer | undefined
  let idTokenSigner: Signer | undefined
  signingKeys.onChange(() => {
    signer = undefined
    idTokenSigner = undefined
  })

  function sign(claims: AccessTokenClaims): Promise<string> {
    signer ??= createSigner(signingKeys.ring.signing)
    return signer(claims)
  }

  const verify = createTokenVerifier({ signingKeys, config, issuer, takeover })

  return {
    /** The signing and verification keys. */
    keys: signingKeys,

    /** The `iss` claim of every token signed here. */
    issuer,

    /** Signs with the current key. */
    sign,

    /** Signs an ID token, with a key pair whose public key clients can fetch. */
    signIdToken(claims: object): Promise<string> {
      const { idTokenSigning } = signingKeys.ring
      if (!idTokenSigning) throw new Error('there is no key for ID tokens')
      idTokenSigner ??= createSigner(idTokenSigning)
      return idTokenSigner(claims)
    },

    /** The access token claims of a user in a session. Throws validation_failed for an audience that is not allowed. */
    buildClaims: (user: ClaimsSource['user'], session: SessionClaims, now: Date) =>
      accessTokenClaims({ user, session, amr: session.amr, config, now }),

    /** Signs a user's access token, without metadata claims that do not fit. Throws token_too_large. */
    signAccessToken: (claims: HookClaims) => signWithinLimit(claims, { sign, log }),

    /** Signs a token for a service or a public client, and keeps its key until the token expires. */
    async signApiToken({ role, sub, seconds, jti }: ApiTokenOptions, now: Date): Promise<string> {
      const { kid } = signingKeys.ring.signing
      const iat = Math.floor(now.getTime() / 1000)
      const exp = iat + Math.floor(seconds)
      await signingKeys.keepUntil(kid, new Date((exp + clockToleranceSeconds) * 1000))
      const named = { ...(sub !== undefined && { sub }), ...(jti !== undefined && { jti }) }
      return sign({ iss: issuer, ...named, role, iat, exp })
    },

    /** Verifies signature, exp, nbf, typ, aud and iss. Throws bad_jwt for an invalid token. */
    verify,
  }
}

export default definePlugin({
  name: 'jwt',
  deps: ['addHook', 'config', 'db', 'encryption', 'log', 'gotrueMigration', 'telemetry'],
  create(deps) {
    const { config, gotrueMigration: takeover, log } = deps
    return createJwt({ signingKeys: createSigningKeyStore(deps), config, takeover, log })
  },
})
