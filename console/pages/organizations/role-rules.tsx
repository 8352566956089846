import { useEffect, useRef } from 'preact/hooks'

import { Button } from '../../parts/button.tsx'
import { SelectField, TextField } from '../../parts/fields.tsx'
import type { ShownConnection } from './organization.ts'

export type RoleMappingRule = ShownConnection['role_mapping'][number]

interface RoleRulesProps {
  rules: readonly RoleMappingRule[]
  roles: readonly (readonly [value: string, text: string])[]
  onChange: (rules: RoleMappingRule[]) => void
}

/** Which role a claim of the provider gives; the order of the rules counts. */
export function RoleRules({ rules, roles, onChange }: RoleRulesProps) {
  const list = useRef<HTMLFieldSetElement>(null)
  const known = useRef(rules.length)
  useEffect(() => {
    const isLonger = rules.length > known.current
    known.current = rules.length
    if (isLonger) list.current?.querySelector<HTMLElement>('.rule:last-of-type input')?.focus()
  }, [rules.length])
  const add = () => onChange([...rules, { attribute: 'groups', value: '', role: 'member' }])
  const remove = (index: number) => onChange(rules.toSpliced(index, 1))
  const moveUp = (index: number) => {
    const [rule] = rules.slice(index, index + 1)
    if (rule) onChange(rules.toSpliced(index, 1).toSpliced(index - 1, 0, rule))
  }
  return (
    <fieldset ref={list}>
      <legend>Role rules</legend>
      <p class="quiet small">
        The first rule whose attribute has the value gives the role, at every sign-in. Without one,
        it is the default role.
      </p>
      {rules.map((rule, index) => (
        <Rule
          key={index}
          {...{ rule, index, roles }}
          onChange={(changed) => onChange(rules.toSpliced(index, 1, changed))}
          onRemove={() => remove(index)}
          onMoveUp={() => moveUp(index)}
        />
      ))}
      <p>
        <Button compact onClick={add}>
          Add rule
        </Button>
      </p>
    </fieldset>
  )
}

interface RuleProps {
  rule: RoleMappingRule
  index: number
  roles: RoleRulesProps['roles']
  onChange: (rule: RoleMappingRule) => void
  onRemove: () => void
  onMoveUp: () => void
}

function Rule({ rule, index, roles, onChange, onRemove, onMoveUp }: RuleProps) {
  const name = `rule ${index + 1}`
  return (
    <fieldset class="rule" aria-label={`Rule ${index + 1}`}>
      <div class="columns narrow">
        <TextField
          name="attribute"
          label="Attribute"
          value={rule.attribute}
          required
          onInput={(attribute) => onChange({ ...rule, attribute })}
        />
        <TextField
          name="value"
          label="Value"
          value={rule.value}
          required
          onInput={(value) => onChange({ ...rule, value })}
        />
        <SelectField
          name="role"
          label="Role"
          value={rule.role}
          options={roles}
          onInput={(role) => onChange({ ...rule, role })}
        />
      </div>
      <div class="row">
        <Button compact disabled={index === 0} label={`Move ${name} up`} onClick={onMoveUp}>
          Move up
        </Button>
        <Button compact kind="danger" label={`Remove ${name}`} onClick={onRemove}>
          Remove
        </Button>
      </div>
    </fieldset>
  )
}
