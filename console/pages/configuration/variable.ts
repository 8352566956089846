/** GET /admin/config. The value of a secret is never sent. */
export interface ShownVariable {
  name: string
  group: string
  description: string
  type: string
  default: string | null
  value: string | null
  secret: boolean
  set: boolean
  source: 'environment' | 'settings' | 'default'
  changeable: boolean
  doc: string
}
