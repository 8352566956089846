import type { ProfileMetadata } from '../core/types.ts'

/** By issuer. */
export const publishedMetadata: ReadonlyMap<string, ProfileMetadata> = new Map([
  [
    'https://accounts.google.com',
    {
      issuer: 'https://accounts.google.com',
      authorizationEndpoint: 'https://accounts.google.com/o/oauth2/v2/auth',
      tokenEndpoint: 'https://oauth2.googleapis.com/token',
      userinfoEndpoint: 'https://openidconnect.googleapis.com/v1/userinfo',
      jwksUri: 'https://www.googleapis.com/oauth2/v3/certs',
      algorithms: ['RS256'],
      namesIssuer: false,
    },
  ],
  [
    'https://appleid.apple.com',
    {
      issuer: 'https://appleid.apple.com',
      authorizationEndpoint: 'https://appleid.apple.com/auth/authorize',
      tokenEndpoint: 'https://appleid.apple.com/auth/token',
      userinfoEndpoint: '',
      jwksUri: 'https://appleid.apple.com/auth/keys',
      algorithms: ['RS256'],
      namesIssuer: false,
    },
  ],
])
