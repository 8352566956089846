import { SignJWT } from 'jose'

import type { Config } from '../../plugins/config/config.ts'

export interface ApiTokens {
  anon: string
  service_role: string
}

const lifetimeSeconds = 10 * 365 * 86_400

/** Tokens for public clients and for servers, the same at every start: HS256 under AUTH_JWT_SECRET. */
export async function makeApiTokens(config: Config, issuedAt: Date): Promise<ApiTokens> {
  const secret = Buffer.from(config.AUTH_JWT_SECRET)
  const iat = Math.floor(issuedAt.getTime() / 1000)
  const sign = (role: string) =>
    new SignJWT({ role })
      .setProtectedHeader({ alg: 'HS256', typ: 'JWT' })
      .setIssuer('postern-dev')
      .setIssuedAt(iat)
      .setExpirationTime(iat + lifetimeSeconds)
      .sign(secret)
  return { anon: await sign('anon'), service_role: await sign('service_role') }
}
