/** GET /admin/settings and its history. */
export interface ShownSetting {
  name: string
  group: string
  description: string
  type: string
  value: string | null
  default: string | null
  secret: boolean
  source: 'environment' | 'settings' | 'default'
  locked: boolean
  updated_at: string | null
  updated_by: string | null
}

export interface ShownSettings {
  settings: ShownSetting[]
}

export interface ShownSettingChange {
  id: number
  name: string
  before: string | null
  after: string | null
  secret: boolean
  changed_by: string | null
  changed_at: string
  reverts: number | null
}
