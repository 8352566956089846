/** Audiences: groups of users whose tokens have that `aud` (RFC 7519 §4.1.3). */

export interface AudienceSettings {
  AUTH_JWT_AUD: string
  AUTH_JWT_ALLOWED_AUDIENCES: readonly string[]
}

export function isAllowedAudience(settings: AudienceSettings, audience: string): boolean {
  const others = settings.AUTH_JWT_ALLOWED_AUDIENCES
  return audience === settings.AUTH_JWT_AUD || others.includes(audience) || others.includes('*')
}

/** Whether the token is for this server: it has one of its audiences, or none, as service tokens do. */
export function isForUs(settings: AudienceSettings, aud: string | string[] | undefined): boolean {
  const named = [aud ?? []].flat().filter((audience) => audience !== '')
  return named.length === 0 || named.some((audience) => isAllowedAudience(settings, audience))
}
