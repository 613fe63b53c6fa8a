/** Search, filters and order of the tasks. */
import { priorities, type Wanted } from "./wanted.ts";

const shows = { all: "All", open: "Open", done: "Done" } as const;
const orders = { createdAt: "Newest first", priority: "Urgent first", title: "By title" } as const;

interface Props {
  wanted: Wanted;
  onChange: (changes: Partial<Wanted>) => void;
}

export function TaskFilters({ wanted, onChange }: Props) {
  return (
    <search className="filters" aria-label="Find tasks">
      <input
        type="search"
        aria-label="Search tasks"
        placeholder="Search"
        maxLength={200}
        autoComplete="off"
        value={wanted.search}
        onChange={({ target }) => onChange({ search: target.value })}
      />
      <fieldset className="segments">
        <legend className="unseen">Show</legend>
        {Object.entries(shows).map(([value, name]) => (
          <label key={value}>
            <input
              type="radio"
              name="show"
              checked={wanted.show === value}
              onChange={() => onChange({ show: value as Wanted["show"] })}
            />
            <span>{name}</span>
          </label>
        ))}
      </fieldset>
      <select
        aria-label="Filter by priority"
        value={wanted.priority}
        onChange={({ target }) => onChange({ priority: target.value as Wanted["priority"] })}
      >
        <option value="">Any priority</option>
        {priorities.map((name, value) => (
          <option key={name} value={value}>
            {name}
          </option>
        ))}
      </select>
      <select
        aria-label="Order"
        value={wanted.order}
        onChange={({ target }) => onChange({ order: target.value as Wanted["order"] })}
      >
        {Object.entries(orders).map(([value, name]) => (
          <option key={value} value={value}>
            {name}
          </option>
        ))}
      </select>
    </search>
  );
}
