/** Access tokens (RFC 7519): signed with the current key, verified with the key they name. */
import type { FastifyBaseLogger } from 'fastify'

import type { Config } from '../../../config/groups/index.ts'
import type { AccessTokenClaims, HookClaims } from '../../../schemas/access-token.ts'
import { definePlugin } from '../../define-plugin.ts'
import { accessTokenClaims, type ClaimsSource, getIssuer } from './access-token-claims.ts'
import { createSigner, type Signer } from './signer.ts'
import { createSigningKeyStore, type SigningKeys } from './signing-keys/index.ts'
import { signWithinLimit } from './token-size.ts'
import { clockToleranceSeconds, createTokenVerifier } from './verify-token.ts'

declare module 'fastify' {
  interface FastifyInstance {
    jwt: Jwt
  }
}

export type Jwt = ReturnType<typeof createJwt>

interface JwtOptions {
  signingKeys: SigningKeys
  config: ClaimsSource['config'] & Pick<Config, 'AUTH_JWT_VALID_METHODS'>
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
