/** Access tokens (RFC 7519), signed with the current key and verified with whichever key they name; and these keys. */
import { TypeCompiler } from '@sinclair/typebox/compiler'
import { errors, type JWTHeaderParameters, jwtVerify } from 'jose'

import { ApiError, badJwt, tokenTooLarge } from '../errors.ts'
import { AccessTokenClaims, type HookClaims } from '../schemas/access-token.ts'
import type { Config } from './config/config.ts'
import { definePlugin } from './define-plugin.ts'
import { accessTokenClaims, type ClaimsSource, issuerOf } from './jwt/access-token-claims.ts'
import { isAccessToken, isIssuedHere } from './jwt/purpose.ts'
import { createSigner, type Signer } from './jwt/signer.ts'
import { keepSigningKeys, type SigningKeys } from './jwt/signing-keys.ts'
import { createVerifiedTokens } from './jwt/verified-tokens.ts'

declare module 'fastify' {
  interface FastifyInstance {
    jwt: Jwt
  }
}

export type Jwt = ReturnType<typeof createJwt>

export interface JwtOptions {
  signingKeys: SigningKeys
  config: Pick<
    Config,
    | 'AUTH_API_EXTERNAL_URL'
    | 'AUTH_JWT_EXP'
    | 'AUTH_JWT_ISSUER'
    | 'AUTH_JWT_VALID_METHODS'
    | 'AUTH_SESSIONS_ALLOW_LOW_AAL'
  >
  /** Where it is absent, no GoTrue shares the database. */
  takeover?: Readonly<{ isShared: boolean }>
}

type SessionClaims = ClaimsSource['session'] & { amr: ClaimsSource['amr'] }

export interface ApiTokenOptions {
  role: string
  sub?: string | undefined
  /** Lifetime. */
  seconds: number
}

/** Proxies and servers in front of what a token is for read little more than this in one header. */
const maxTokenLength = 16_384
const maxRemembered = 2_048
const clockToleranceSeconds = 5

const claimsCheck = TypeCompiler.Compile(AccessTokenClaims)

export function createJwt({ signingKeys, config, takeover }: JwtOptions) {
  const verified = createVerifiedTokens(maxRemembered)
  const issuer = issuerOf(config)
  let signer: Signer | undefined
  signingKeys.onChange(() => {
    verified.clear()
    signer = undefined
  })

  function sign(claims: AccessTokenClaims): Promise<string> {
    signer ??= createSigner(signingKeys.ring.signing)
    return signer(claims)
  }

  /** The one key a token may be verified with; its algorithm is the key's, never the token's choice. */
  async function keyFor(header: JWTHeaderParameters, now: Date) {
    const { kid, alg } = header
    if (!isAccessToken(header)) throw unverifiable('its type is another')
    let key = signingKeys.ring.find(kid, alg, now)
    if (!key && kid !== undefined) {
      await signingKeys.lookAgain(now)
      key = signingKeys.ring.find(kid, alg, now)
    }
    if (!key) throw unverifiable('its key is unknown')
    const allowed = config.AUTH_JWT_VALID_METHODS ?? [key.alg]
    if (alg !== key.alg || !allowed.includes(alg)) {
      throw unverifiable('its algorithm is not allowed')
    }
    return key.key
  }

  async function verifySignature(token: string, now: Date): Promise<AccessTokenClaims> {
    const options = { clockTolerance: clockToleranceSeconds, currentDate: now }
    try {
      const { payload } = await jwtVerify(
        token,
        (header: JWTHeaderParameters) => keyFor(header, now),
        options,
      )
      const claims: unknown = payload
      if (!claimsCheck.Check(claims)) throw unverifiable('a claim has the wrong type')
      if (!isIssuedHere(claims, issuer, takeover?.isShared === true)) {
        throw unverifiable('its issuer is another')
      }
      return Object.freeze(claims)
    } catch (error) {
      throw toBadJwt(error)
    }
  }

  return {
    /** What tokens are signed and verified with. */
    keys: signingKeys,

    /** The `iss` of every token that is signed here. */
    issuer,

    /** Signs with the current key. */
    sign,

    /** What the access token of a person in a session says. */
    claimsOf: (user: ClaimsSource['user'], session: SessionClaims, now: Date) =>
      accessTokenClaims({ user, session, amr: session.amr, config, now }),

    /** Signs the access token of a person. Throws token_too_large. */
    async signAccessToken(claims: HookClaims): Promise<string> {
      const token = await sign(claims)
      if (token.length > maxTokenLength) throw tokenTooLarge(largest(claims), maxTokenLength)
      return token
    },

    /** Signs a token for a service or a public client, and keeps its key until it has expired. */
    async signApiToken({ role, sub, seconds }: ApiTokenOptions, now: Date): Promise<string> {
      const { kid } = signingKeys.ring.signing
      const iat = Math.floor(now.getTime() / 1000)
      const exp = iat + Math.floor(seconds)
      await signingKeys.keepUntil(kid, new Date((exp + clockToleranceSeconds) * 1000))
      return sign({ iss: issuer, ...(sub !== undefined && { sub }), role, iat, exp })
    },

    /** Checks signature, exp, nbf, typ and iss. Throws bad_jwt for whatever is wrong with the token. */
    async verify(token: string): Promise<AccessTokenClaims> {
      const now = new Date()
      const known = verified.get(token)
      if (known && !isExpired(known, now)) return known
      verified.delete(token)
      if (token.length > maxTokenLength) throw unverifiable('it is too long')
      const claims = await verifySignature(token, now)
      verified.set(token, claims)
      return claims
    },
  }
}

/** The claim that takes up most of it. */
function largest(claims: HookClaims): string {
  const sizes = Object.entries(claims).map(([name, claim]) => ({
    name,
    size: JSON.stringify(claim)?.length ?? 0,
  }))
  return sizes.toSorted((a, b) => b.size - a.size)[0]?.name ?? ''
}

function isExpired({ exp }: AccessTokenClaims, now: Date): boolean {
  return exp !== undefined && exp + clockToleranceSeconds <= Math.floor(now.getTime() / 1000)
}

function unverifiable(why: string) {
  return badJwt(`invalid JWT: unable to parse or verify signature, ${why}`)
}

/** Only what can be the token's fault; a database that is gone while we look for its key is not. */
function toBadJwt(error: unknown): unknown {
  if (error instanceof ApiError) return error
  if (error instanceof errors.JWTExpired) return unverifiable('it has expired')
  if (error instanceof errors.JWTClaimValidationFailed) {
    return unverifiable(
      error.claim === 'nbf' ? 'it is not valid yet' : 'a claim has the wrong type',
    )
  }
  if (error instanceof errors.JWSSignatureVerificationFailed) {
    return unverifiable('its signature is wrong')
  }
  return error instanceof errors.JOSEError ? unverifiable('it is malformed') : error
}

export default definePlugin({
  name: 'jwt',
  needs: ['addHook', 'config', 'db', 'encryption', 'log', 'takeover', 'telemetry'],
  create(house) {
    const { config, takeover } = house
    return createJwt({ signingKeys: keepSigningKeys(house), config, takeover })
  },
})
