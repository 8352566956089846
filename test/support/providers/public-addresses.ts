/** The public URLs of each provider, and the path at its fake. */
interface PublicAddress {
  bases: Record<string, string>
  issuer?: string
  iss: string
  /** Where they differ from those at a configured address. */
  claims?: Record<string, unknown>
}

const tenant = 'https://login.microsoftonline.com/11111111-2222-3333-4444-555555555555'

export const publicAddressByProvider: Record<string, PublicAddress> = {
  apple: {
    bases: { 'https://appleid.apple.com': '' },
    issuer: 'https://appleid.apple.com',
    iss: 'https://appleid.apple.com',
  },
  azure: {
    bases: { 'https://login.microsoftonline.com/common': '', [tenant]: '' },
    issuer: `${tenant}/v2.0`,
    iss: `${tenant}/v2.0`,
    claims: {
      sub: 'az1',
      provider_id: 'az1',
      full_name: 'Ann Lee',
      phone_verified: false,
      email: 'ann@ex.test',
      email_verified: true,
      preferred_username: 'ann@ex.test',
      custom_claims: { email: 'ann@ex.test', oid: 'o1', xms_edov: '1' },
    },
  },
  bitbucket: {
    bases: { 'https://bitbucket.org': '', 'https://api.bitbucket.org': '' },
    iss: 'https://api.bitbucket.org/2.0',
  },
  discord: { bases: { 'https://discord.com': '' }, iss: 'https://discord.com/api' },
  facebook: {
    bases: { 'https://www.facebook.com': '', 'https://graph.facebook.com': '' },
    iss: 'https://graph.facebook.com/me?fields=email,first_name,last_name,name,picture',
  },
  figma: {
    bases: { 'https://www.figma.com': '', 'https://api.figma.com': '' },
    iss: 'https://api.figma.com',
  },
  fly: { bases: { 'https://api.fly.io': '' }, iss: 'https://api.fly.io' },
  github: {
    bases: { 'https://github.com': '', 'https://api.github.com': '/api/v3' },
    iss: 'https://api.github.com',
  },
  gitlab: { bases: { 'https://gitlab.com': '' }, iss: 'https://gitlab.com' },
  google: {
    bases: { 'https://accounts.google.com': '' },
    issuer: 'https://accounts.google.com',
    iss: 'https://accounts.google.com',
  },
  'google without id_token': {
    bases: { 'https://accounts.google.com': '', 'https://www.googleapis.com': '' },
    issuer: 'https://accounts.google.com',
    iss: 'https://www.googleapis.com/userinfo/v2/me',
  },
  kakao: {
    bases: { 'https://kauth.kakao.com': '', 'https://kapi.kakao.com': '' },
    iss: 'https://kapi.kakao.com',
  },
  linkedin: { bases: { 'https://api.linkedin.com': '' }, iss: 'https://api.linkedin.com' },
  linkedin_oidc: {
    bases: { 'https://www.linkedin.com/oauth': '', 'https://api.linkedin.com/oauth': '' },
    issuer: 'https://www.linkedin.com/oauth',
    iss: 'https://www.linkedin.com/oauth',
  },
  notion: { bases: { 'https://api.notion.com': '' }, iss: 'https://api.notion.com' },
  slack: { bases: { 'https://slack.com': '' }, iss: 'https://slack.com/api' },
  slack_oidc: {
    bases: { 'https://slack.com': '' },
    issuer: 'https://slack.com',
    iss: 'https://slack.com/api',
  },
  snapchat: {
    bases: { 'https://accounts.snapchat.com': '', 'https://kit.snapchat.com': '' },
    iss: 'https://accounts.snapchat.com/accounts/oauth2/token',
  },
  spotify: {
    bases: { 'https://accounts.spotify.com': '', 'https://api.spotify.com/v1': '' },
    iss: 'https://api.spotify.com/v1',
  },
  twitch: {
    bases: { 'https://id.twitch.tv': '', 'https://api.twitch.tv': '' },
    iss: 'https://api.twitch.tv',
  },
  vercel_marketplace: {
    bases: { 'https://api.vercel.com': '', 'https://marketplace.vercel.com': '' },
    issuer: 'https://marketplace.vercel.com',
    iss: 'https://marketplace.vercel.com',
  },
  workos: { bases: { 'https://api.workos.com': '' }, iss: 'https://api.workos.com' },
  x: { bases: { 'https://x.com': '', 'https://api.x.com': '' }, iss: 'https://api.x.com' },
  zoom: {
    bases: { 'https://zoom.us': '', 'https://api.zoom.us': '' },
    iss: 'https://api.zoom.us/v2',
  },
}
