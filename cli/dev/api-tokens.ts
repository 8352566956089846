import { SignJWT } from 'jose'

import type { Config } from '../../config/groups/index.ts'

export interface ApiTokens {
  anon: string
  service_role: string
}

const lifetimeSeconds = 10 * 365 * 86_400

/** Creates the anon and service_role tokens, the same at every start: HS256 with AUTH_JWT_SECRET. */
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
