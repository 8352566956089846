import type { Found } from './names.ts'

/** The environment name under which each set variable was found. */
export type FoundNames = ReadonlyMap<string, Found>
