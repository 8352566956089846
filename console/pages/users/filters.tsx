import { useEffect, useRef } from 'preact/hooks'

import { query, setQuery } from '../../core/router.ts'
import { FilterField } from '../../parts/filter-field.tsx'
import { Menu } from '../../parts/menu.tsx'
import { chosenColumnNames, columnNames, titleOfColumn, toggleColumn } from './columns.tsx'
import { orders, states } from './list-query.ts'

const typingMs = 200

/** Search and filters, all stored in the URL. */
export function UserFilters() {
  const count = ['provider', 'from', 'to'].filter((name) => query.value.get(name)).length
  return (
    <search class="filters">
      <SearchField />
      <Choice name="state" label="State" options={states} />
      <Choice name="sort" label="Order" options={orders} />
      <Menu label={count > 0 ? `Filters (${count})` : 'Filters'} keepOpen>
        <div class="form">
          <FilterField name="provider" label="Provider" />
          <FilterField name="from" label="Created from" type="date" />
          <FilterField name="to" label="Created until" type="date" />
        </div>
      </Menu>
      <Menu label="Columns" keepOpen>
        {columnNames
          .filter((name) => name !== 'user')
          .map((name) => (
            <label key={name}>
              <input
                type="checkbox"
                checked={chosenColumnNames.value.includes(name)}
                onChange={() => toggleColumn(name)}
              />
              {titleOfColumn(name)}
            </label>
          ))}
      </Menu>
    </search>
  )
}

function SearchField() {
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined)
  const field = useRef<HTMLInputElement>(null)
  const q = query.value.get('q') ?? ''
  // Back and forward change the URL; text being typed stays.
  useEffect(() => {
    if (field.current && document.activeElement !== field.current) field.current.value = q
  }, [q])
  const search = (text: string) => {
    clearTimeout(timer.current)
    timer.current = setTimeout(() => setQuery({ q: text.trim() }), typingMs)
  }
  return (
    <input
      ref={field}
      type="search"
      aria-label="Search users"
      placeholder="Search by email, phone, name or id"
      defaultValue={q}
      maxLength={255}
      onInput={(event) => search(event.currentTarget.value)}
    />
  )
}

interface ChoiceProps {
  name: string
  label: string
  options: readonly (readonly [string, string])[]
}

function Choice({ name, label, options }: ChoiceProps) {
  const chosen = query.value.get(name) ?? ''
  return (
    <select
      aria-label={label}
      value={chosen}
      onChange={(event) => setQuery({ [name]: event.currentTarget.value })}
    >
      {options.map(([value, text]) => (
        <option key={value} value={value} selected={value === chosen}>
          {text}
        </option>
      ))}
    </select>
  )
}
