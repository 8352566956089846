import { SignJWT } from 'jose'

/** Creates a token for the admin endpoints, valid for three hours: role service_role, HS256. */
export function mintServiceRole(jwtSecret: string): Promise<string> {
  return new SignJWT({ role: 'service_role' })
    .setProtectedHeader({ alg: 'HS256', typ: 'JWT' })
    .setAudience('authenticated')
    .setIssuedAt()
    .setExpirationTime('3h')
    .sign(new TextEncoder().encode(jwtSecret))
}
