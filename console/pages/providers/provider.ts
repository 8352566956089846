/** GET /admin/providers. */
export interface ListedProvider {
  name: string
  title: string
  kind: 'built-in' | 'oidc' | 'custom'
  enabled: boolean
  callback_url: string
  client_id: string | null
  has_secret: boolean
  issuer: string | null
}

export interface TestOutcome {
  ok: boolean
  steps: { step: string; ok: boolean; detail: string }[]
}
