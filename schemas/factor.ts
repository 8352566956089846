import { Type } from '@sinclair/typebox'

/** The path of a factor. The route validates the id, because an invalid one is a 404. */
export const FactorPath = Type.Object({ factor_id: Type.String() })
