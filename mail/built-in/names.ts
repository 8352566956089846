/** Names that people know, as template source: what the variables hold are identifiers. */

const providers = {
  apple: 'Apple',
  azure: 'Microsoft',
  bitbucket: 'Bitbucket',
  discord: 'Discord',
  email: 'your email address',
  facebook: 'Facebook',
  figma: 'Figma',
  fly: 'Fly.io',
  github: 'GitHub',
  gitlab: 'GitLab',
  google: 'Google',
  kakao: 'Kakao',
  keycloak: 'Keycloak',
  linkedin: 'LinkedIn',
  linkedin_oidc: 'LinkedIn',
  notion: 'Notion',
  phone: 'your phone number',
  slack: 'Slack',
  slack_oidc: 'Slack',
  snapchat: 'Snapchat',
  spotify: 'Spotify',
  twitch: 'Twitch',
  twitter: 'X (Twitter)',
  vercel_marketplace: 'Vercel',
  workos: 'WorkOS',
  x: 'X',
  zoom: 'Zoom',
}

const factors = { totp: 'an authenticator app', phone: 'your phone', webauthn: 'a security key' }

/** Unknown providers, those of the operator, keep the name they have. */
export const providerName = choice('.Provider', providers)

export const factorName = choice('.FactorType', factors)

function choice(variable: string, names: Record<string, string>): string {
  const branches = Object.entries(names).map(([id, name]) => `if eq ${variable} "${id}" }}${name}`)
  return `{{ ${branches.join('{{ else ')}{{ else }}{{ ${variable} }}{{ end }}`
}
