import type { Generated } from 'kysely'

/** Settings that owners change while the server runs, by the names of their variables. */
export interface SettingsTable {
  name: string
  /** As in the environment; encrypted, and bound to the name. */
  value: string
  updated_at: Date
  /** Address or role of the admin. */
  updated_by: string | null
}

export interface SettingChangesTable {
  id: Generated<number>
  name: string
  /** Encrypted like the value; null where the default applied. */
  before: string | null
  after: string | null
  changed_at: Date
  changed_by: string | null
  /** The change that this one reverts. */
  reverts: number | null
}
