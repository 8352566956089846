/** The functions of organizations that policies of the operator call: named without a prefix (migration 0212). */
export const policyFunctions = [
  'org_id()',
  'org_role()',
  'has_permission(text)',
  'is_member(uuid)',
] as const

export type PolicyFunction = (typeof policyFunctions)[number]

/** Marks a function as created by this server. A function of the operator with the same name has another comment. */
export const policyFunctionComment = 'Created by Postern for row-level security policies.'
