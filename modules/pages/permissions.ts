/** The requested permissions as text. */
import type { Say, TextName } from '../../ui/texts.ts'

const known: Record<string, TextName> = {
  openid: 'scope_openid',
  profile: 'scope_profile',
  email: 'scope_email',
  phone: 'scope_phone',
  address: 'scope_address',
  offline_access: 'scope_offline_access',
}

/** What the client may do besides its scopes. */
interface Reach {
  /** Resource servers. */
  resources?: readonly string[]
  /** The name of the site whose data the user's role may read and change, where the client has that role. */
  site?: string | undefined
}

/** A line for each scope and each resource server, and for the user's data. */
export function permissionLines(
  say: Say,
  scopes: readonly string[],
  { resources = [], site }: Reach = {},
): string[] {
  const ofScopes = scopes.map((scope) => {
    const name = known[scope]
    return name ? say(name) : say('scope_other', { scope })
  })
  return [
    ...ofScopes,
    ...resources.map((resource) => say('scope_resource', { resource })),
    ...(site === undefined ? [] : [say('scope_data', { site })]),
  ]
}

interface Policies {
  settings: { policy_uri?: string; tos_uri?: string }
}

/** Links to the policies that a client publishes (OpenID Connect Dynamic Client Registration §2). */
export function listPolicyLinks({ settings }: Policies): { name: TextName; url: string }[] {
  const { policy_uri: policy, tos_uri: terms } = settings
  return [
    ...(policy ? [{ name: 'privacy_policy' as const, url: policy }] : []),
    ...(terms ? [{ name: 'terms' as const, url: terms }] : []),
  ]
}
